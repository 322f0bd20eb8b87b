"""What can be said of a problem or a run without the engine: referee, bounds, metrics, liveness, critical paths."""
