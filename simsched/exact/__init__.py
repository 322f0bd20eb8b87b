"""The exact scheduler: a constraint model of a problem, solved with OR-tools CP-SAT (extra ``exact``).

It stands above the engine and the analysis, unlike other schedulers: it starts from the best of their simulated runs,
and gives the lower bounds to the solver.
"""
