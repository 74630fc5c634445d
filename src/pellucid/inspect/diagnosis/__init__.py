"""What is wrong with a network, said in findings."""
