"""What every transcript format has in common: lines, items, descriptions, files to choose from."""
