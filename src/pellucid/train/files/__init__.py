"""Files: what is written, how it is checked when it is read, and how a run goes on from one."""
