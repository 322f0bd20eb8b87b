"""Results on their way out: tables, rows, folders, traces for viewers, the story of a run, and runs read back."""
