package main

import (
	"fmt"
	"regexp"
	"strings"
)

// zipHeading matches the headings of loops of two operands that need no stack.
var zipHeading = regexp.MustCompile(`(?m)^// func (\w+)\(dst \*byte, x \*byte, y \*byte, rows int, cols int, dstStride int, xStride int, yStride int\)\n(?://.*\n)*TEXT ·\w+\(SB\), NOSPLIT, \$0-64$`)

// zipsOf returns the names of the loops of two operands in assembly.
func zipsOf(asm string) (names []string) {
	for _, m := range zipHeading.FindAllStringSubmatch(asm, -1) {
		names = append(names, m[1])
	}
	return names
}

// entrances returns the assembly of simd.Enter, which goes on where a loop of two operands begins,
// and of a table of where they do. Go calls a function that it knows by name with the arguments where
// assembly looks for them; but it calls a function value with the arguments in registers, by way of a
// function that puts them there.
func entrances(zips []string) string {
	var b strings.Builder
	b.WriteString(`
// func Enter(dst *byte, x *byte, y *byte, rows int, cols int, dstStride int, xStride int, yStride int, at Entry)
TEXT ·Enter(SB), NOSPLIT, $0-72
	MOVQ at+64(FP), AX
	JMP  AX

// func entry(i int) Entry
TEXT ·entry(SB), NOSPLIT, $0-16
	MOVQ i+0(FP), AX
	LEAQ entries<>(SB), CX
	MOVQ (CX)(AX*8), AX
	MOVQ AX, ret+8(FP)
	RET

`)
	for i, name := range zips {
		fmt.Fprintf(&b, "DATA entries<>+%d(SB)/8, $·%s(SB)\n", 8*i, name)
	}
	fmt.Fprintf(&b, "GLOBL entries<>(SB), NOPTR, $%d\n", 8*len(zips))
	return b.String()
}

// entered returns the Go declarations that go with it.
func entered(zips []string) string {
	var b strings.Builder
	b.WriteString(`
// Enter calls the loop of two operands that begins at an entry, which is not 0.
//
//go:noescape
func Enter(dst *byte, x *byte, y *byte, rows int, cols int, dstStride int, xStride int, yStride int, at Entry)

// entry returns entry i of the table.
func entry(i int) Entry

// entered are the loops that the table has the entries of.
var entered = [...]Zip{
`)
	for _, name := range zips {
		fmt.Fprintf(&b, "\t%s,\n", name)
	}
	b.WriteString("}\n")
	return b.String()
}
