"""What the Sessions screen is made of: sources of rows, their drawing, the reader, the context window."""
