"""Update rules: what one is, descent, adaptive rules, Adam's family, schedule-free, Muon, scikit-learn's, and the table of all."""
