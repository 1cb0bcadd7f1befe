"""Recorded results of what would come out otherwise each time (contract log-and-chronicle, §6, §7)."""
