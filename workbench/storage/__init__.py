"""SQLite for the rest of the house: connections, transactions, the file's identity (DESIGN §4)."""
