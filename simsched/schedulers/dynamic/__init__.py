"""Schedulers that decide at run time with what they know: wrong estimates, plans made anew, theft of work."""
