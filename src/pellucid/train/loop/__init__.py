"""The loop: epochs of steps on either engine, and what happens when numbers break."""
