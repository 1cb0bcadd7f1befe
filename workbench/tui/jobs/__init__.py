"""The Jobs screen: what long calls run, ran and did."""
