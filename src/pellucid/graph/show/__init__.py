"""How a graph is shown: programs, trace tables, pictures, symbolic formulas."""
