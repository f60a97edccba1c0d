//go:build !linux

package main

import "os/exec"

// startOn starts a command, on whatever core.
func startOn(_ int, cmd *exec.Cmd) error { return cmd.Start() }
