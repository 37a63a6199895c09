"""One execution of one task as a process of its own: phases, approvals, progress, resume."""
