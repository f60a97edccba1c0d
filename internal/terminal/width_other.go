//go:build !unix

package terminal

import "io"

// Width returns how many columns the terminal w has, and 0 if w is no terminal, or one that does not
// say, as here.
func Width(io.Writer) int { return 0 }
