"""The engine `jax`: graphs lowered to XLA, for GPUs, TPUs and several machines. Its files alone import JAX."""
