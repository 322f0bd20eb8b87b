"""What operators cost: the registry of work per operator type, and models that turn work into time."""
