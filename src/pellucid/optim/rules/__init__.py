"""Update rules: what one is, descent, adaptive rules, Adam's family, scikit-learn's, and the table of all."""
