package main

import (
	"strings"
	"testing"
)

func TestAVX2Only(t *testing.T) {
	const body = "TEXT ·%s(SB), NOSPLIT, $0-8\n\tVADDPS Y1, %r, Y2\n\tRET\n\nTEXT ·nextAVX512(SB), NOSPLIT, $0-8\n\tVADDPS Z1, K1, Z17\n\tRET\n"
	for register, ok := range map[string]bool{"Y15": true, "X3": true, "Y16": false, "X31": false, "K1": false, "Z2": false} {
		for name, wide := range map[string]bool{"addAVX2": false, "addAVX512": true} {
			err := avx2Only(strings.NewReplacer("%s", name, "%r", register).Replace(body))
			if (err == nil) != (ok || wide) {
				t.Errorf("%s in %s: %v", register, name, err)
			}
		}
	}
}
