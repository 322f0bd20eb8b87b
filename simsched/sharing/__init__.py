"""How activities share resources: rates that are fair, and when each activity ends."""
