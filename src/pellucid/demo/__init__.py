"""What `pellucid demo` shows beside a training: the table as a picture, and the lecture's examples."""

from pellucid.demo.lecture import show_lecture as show_lecture
