"""Layers: what one is, those with weights, noise, normalisation, embeddings, and layers made of layers."""
