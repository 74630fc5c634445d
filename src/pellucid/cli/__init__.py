"""What people start from the shell."""

from pellucid.cli.command import main as main
