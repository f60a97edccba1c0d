package text

import _ "embed"

//go:embed us-constitution.txt
var constitution string

// Constitution returns the Declaration of Independence and the Constitution of the
// United States: 54 676 characters of ASCII in lines. It is in the public domain.
func Constitution() string { return constitution }
