"""Search for short plans without a solver: schedules are generated from orders, and orders are bred from schedules."""
