"""The page: runs as one document of plain data, and one self-contained HTML file that replays it."""
