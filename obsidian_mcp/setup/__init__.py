"""Getting started on a computer: clients' configuration files, the state of the installation
(specs/install.md)."""
