"""Parts of the Facts screen."""
