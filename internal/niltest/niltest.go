// Package niltest calls everything that a package exports with nil, zero values, and receivers that are
// nil, zero or closed: none of them may panic.
package niltest

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

// A Table lists what a package exports. Go cannot look up functions by name, so that a test lists
// them; [Check] holds the list to the package's source.
type Table struct {
	// Functions are all exported functions by name; of a generic one any instance.
	Functions map[string]any
	// Types are zero values of all exported types that have exported methods.
	Types []any
	// Samples makes well-formed values, and closed ones. They are further receivers, and the first
	// of a fitting type is the argument beside the one that is zero. Each call gets its own.
	Samples func() []any
	// Skipped are functions and methods ("VM.Close") that are not called, each with the reason.
	Skipped map[string]string
}

// Check calls all functions and methods of the table, of the package in the working folder, several
// times: with zero values only, and with samples in place of all but one. Contexts are never nil, as
// package context demands. Iterators that they return are run. Check reports every panic, and what
// the package exports and the table lacks.
//
// One kind of panic is Go's own: to call a method on a nil pointer, or on the zero value of a type
// that only its constructor makes (a struct without exported fields, with methods on the pointer
// only). There a method that returns an error must return it; another may panic.
func Check(t *testing.T, table Table) {
	t.Helper()
	functions, types := exported(t)
	for name := range functions {
		if _, ok := table.Functions[name]; !ok && table.Skipped[name] == "" {
			t.Errorf("the table lacks function %s", name)
		}
	}
	for name := range table.Functions {
		if !functions[name] {
			t.Errorf("the table has %s, which is no exported function", name)
		}
	}
	if table.Samples == nil {
		table.Samples = func() []any { return nil }
	}
	for name, f := range table.Functions {
		if table.Skipped[name] == "" {
			ftype := reflect.TypeOf(f)
			for zero := -1; zero < ftype.NumIn(); zero++ {
				call(t, name, reflect.ValueOf(f), zero, false, table.Samples())
				if zero >= 0 && isNode(argument(ftype, zero)) {
					call(t, name, reflect.ValueOf(f), zero, true, table.Samples())
				}
			}
		}
	}
	for _, v := range table.Types {
		typ := reflect.TypeOf(v)
		delete(types, typ.Name())
		pointer := reflect.PointerTo(typ)
		for i := range pointer.NumMethod() {
			m := pointer.Method(i)
			name := typ.Name() + "." + m.Name
			if table.Skipped[name] != "" {
				continue
			}
			for zero := -1; zero < m.Type.NumIn(); zero++ { // the last is beyond the arguments, which are all samples
				if fails(m) || !constructed(typ) {
					call(t, name, reflect.New(typ).Method(i), zero, false, table.Samples())
				}
				if _, byValue := typ.MethodByName(m.Name); !byValue && fails(m) {
					call(t, "(nil)."+name, reflect.Zero(pointer).Method(i), zero, false, table.Samples())
				}
				for n, sample := range table.Samples() {
					if s := reflect.TypeOf(sample); s == typ || s == pointer {
						samples := table.Samples()
						receiver := reflect.ValueOf(samples[n]).MethodByName(m.Name)
						if receiver.IsValid() {
							what := fmt.Sprintf("(sample %d).%s", n, name)
							call(t, what, receiver, zero, false, samples)
							if ftype := receiver.Type(); 0 <= zero && zero < ftype.NumIn() && isNode(argument(ftype, zero)) {
								call(t, what, receiver, zero, true, samples)
							}
						}
					}
				}
			}
		}
	}
	for name := range types {
		t.Errorf("the table lacks type %s", name)
	}
}

// fails reports whether the last result of a method is an error that it met; Unwrap's is what it holds.
func fails(m reflect.Method) bool {
	f := m.Type
	return m.Name != "Unwrap" && f.NumOut() > 0 && f.Out(f.NumOut()-1) == reflect.TypeFor[error]()
}

// constructed reports whether only a constructor makes useful values of a type.
func constructed(typ reflect.Type) bool {
	if typ.Kind() != reflect.Struct || typ.NumMethod() > 0 {
		return false
	}
	for i := range typ.NumField() {
		if typ.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// argument returns the type of an argument, of a variadic function that of each of the last ones.
func argument(f reflect.Type, i int) reflect.Type {
	if f.IsVariadic() && i == f.NumIn()-1 {
		return f.In(i).Elem()
	}
	return f.In(i)
}

// isNode reports whether a type is *graph.Node, whose zero value is well formed Go, like nil.
func isNode(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Name() == "Node" && strings.HasSuffix(t.Elem().PkgPath(), "/graph")
}

// call calls f with samples as arguments, save that argument zero is zero; below 0, all are. Of a node
// it is nil or, with zeroNodes, the zero Node.
func call(t *testing.T, name string, f reflect.Value, zero int, zeroNodes bool, samples []any) {
	t.Helper()
	typ := f.Type()
	var args []reflect.Value
	for i := range typ.NumIn() {
		if typ.IsVariadic() && i == typ.NumIn()-1 && zero < 0 {
			break // none at all
		}
		in := argument(typ, i)
		arg := reflect.Zero(in)
		if i == zero && isNode(in) && zeroNodes {
			arg = reflect.New(in.Elem())
		}
		if in == reflect.TypeFor[context.Context]() {
			arg = reflect.ValueOf(context.Background())
		} else if zero >= 0 && i != zero {
			for _, s := range samples {
				if reflect.TypeOf(s).AssignableTo(in) {
					arg = reflect.ValueOf(s)
					break
				}
			}
		}
		args = append(args, arg)
	}
	defer func() {
		if r := recover(); r != nil {
			given := make([]string, len(args))
			for i, a := range args {
				given[i] = fmt.Sprint(a.Type())
				if a.IsZero() {
					given[i] += " zero"
				}
			}
			t.Errorf("%s(%s) panics: %v\n%s", name, strings.Join(given, ", "), r, place(debug.Stack()))
		}
	}()
	for _, result := range f.Call(args) {
		iterate(result)
	}
}

// iterate runs an iterator over at most ten elements.
func iterate(v reflect.Value) {
	if v.Kind() != reflect.Func || v.IsNil() || !(v.Type().CanSeq() || v.Type().CanSeq2()) {
		return
	}
	n := 0
	if v.Type().CanSeq2() {
		for range v.Seq2() {
			if n++; n == 10 {
				break
			}
		}
		return
	}
	for range v.Seq() {
		if n++; n == 10 {
			break
		}
	}
}

// place returns the lines of a stack from the panic to the reflect call.
func place(stack []byte) string {
	_, s, _ := strings.Cut(string(stack), "panic(")
	s, _, _ = strings.Cut(s, "reflect.Value.call")
	var files []string
	for _, line := range strings.Split(s, "\n") {
		if file, ok := strings.CutPrefix(line, "\t"); ok && !strings.Contains(file, "/src/runtime/") {
			file, _, _ = strings.Cut(file, " ")
			files = append(files, "\t"+file)
		}
	}
	return strings.Join(files, "\n")
}

// exported returns the names of the exported functions of the package in the working folder, and of
// the exported types that have exported methods.
func exported(t *testing.T) (functions, types map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	functions, types = map[string]bool{}, map[string]bool{}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			if f.Recv == nil {
				functions[f.Name.Name] = true
			} else if recv := receiver(f.Recv.List[0].Type); ast.IsExported(recv) {
				types[recv] = true
			}
		}
	}
	return functions, types
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
