// Command asmgen writes the assembly of package simd and the Go declarations that go with it. It is
// a module of its own, so that users of the library do not depend on the assembler's library. It is
// run by
//
//	go generate ./internal/simd
//
// Without names of files it writes all. The files are checked in; the same input gives the same
// bytes.
package main

import (
	"flag"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// files holds the generators: each writes NAME_amd64.s and NAME_amd64.go; vec also writes the
// tables of its loops.
var files = map[string]func(*build.Context){
	"brgemm": brgemm,
	"gemm":   gemm,
	"small":  small,
	"vec":    vec,
	"window": window,
}

func main() {
	log.SetFlags(0)
	// The assembler's library takes the default flag set.
	flags := flag.NewFlagSet("asmgen", flag.ExitOnError)
	out := flags.String("out", ".", "directory to write to")
	flags.Parse(os.Args[1:])
	names := flags.Args()
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(files))
	}
	for _, name := range names {
		gen, ok := files[name]
		if !ok {
			log.Fatalf("asmgen: nothing is called %q", name)
		}
		c := build.NewContext()
		c.ConstraintExpr("!noasm")
		gen(c)
		f, err := c.Result()
		if err != nil {
			log.Fatalf("asmgen %s: %v", name, err)
		}
		cfg := printer.Config{Argv: []string{"asmgen", name}, Name: "asmgen", Pkg: "simd"}
		if err := pass.Compile.Execute(f); err != nil {
			log.Fatalf("asmgen %s: %v", name, err)
		}
		var zips []string
		for _, o := range []struct {
			ext string
			p   printer.Printer
		}{{".s", printer.NewGoAsm(cfg)}, {".go", printer.NewStubs(cfg)}} {
			b, err := o.p.Print(f)
			if err == nil {
				b = []byte(fetchBytes(brainBytes(string(b))))
				err = avx2Only(string(b))
			}
			if name == "vec" && o.ext == ".s" {
				zips = zipsOf(string(b))
				b = append(b, entrances(zips)...)
			} else if name == "vec" {
				b = append(b, entered(zips)...)
			}
			if err == nil {
				err = os.WriteFile(*out+"/"+name+"_amd64"+o.ext, b, 0o644)
			}
			if err != nil {
				log.Fatalf("asmgen %s: %v", name, err)
			}
		}
	}
	if slices.Contains(names, "vec") {
		texts, err := tables()
		for name, text := range texts {
			if err == nil {
				err = os.WriteFile(*out+"/"+name, text, 0o644)
			}
		}
		if err != nil {
			log.Fatalf("asmgen vec: %v", err)
		}
	}
}
