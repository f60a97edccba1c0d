package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	heading = regexp.MustCompile(`(?m)^TEXT ·(\w+)`)
	upper   = regexp.MustCompile(`\b[XYZK](1[6-9]|2\d|3[01])\b|\bZ\d+\b|\bK\d\b`)
)

// avx2Only finds registers that came with AVX-512 in functions for AVX2. The assembler's library
// assigns them silently where the others run out, and on a machine without them the program dies of
// an illegal instruction.
func avx2Only(asm string) error {
	starts := heading.FindAllStringSubmatchIndex(asm, -1)
	for i, at := range starts {
		end := len(asm)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name := asm[at[2]:at[3]]
		if r := upper.FindString(asm[at[0]:end]); r != "" && strings.HasSuffix(name, "AVX2") {
			return fmt.Errorf("%s uses %s, which AVX2 does not have", name, r)
		}
	}
	return nil
}
