package build

import "errors"

// ErrNoOperand is what is wrong with a nil operand.
var ErrNoOperand = errors.New("operand is nil")
