package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// documented lists the packages whose functions over nodes have pages, by their folders.
var documented = []string{"ops", "nn", "nn/attention", "nn/rnn", "nn/graphnet", "nn/augment"}

const modulePath = "github.com/tapestry-ml/tapestry"

// goPackage is the source of a documented package.
type goPackage struct {
	dir   string // "nn/attention", also in its import path
	fset  *token.FileSet
	doc   *doc.Package
	funcs map[string]*ast.FuncDecl // by name; methods are "Type.Method"
	file  map[string]*ast.File     // by the same names, the file that declares it
	types map[string]bool          // its own types, whether exported or not

	methods map[string][]string // by a method's name that is not exported: "Type.method"
	helpers map[string]string   // docs of functions in its tests
}

// moduleRoot returns the folder of the module's source, the working directory or one above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("docs: want to run in the source of " + modulePath)
		}
	}
}

// readPackages reads the source of the documented packages.
func readPackages() ([]*goPackage, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	var all []*goPackage
	for _, dir := range documented {
		p, err := readPackage(root, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func readPackage(root, dir string) (*goPackage, error) {
	p := &goPackage{dir: dir, fset: token.NewFileSet(), funcs: map[string]*ast.FuncDecl{}, file: map[string]*ast.File{}, types: map[string]bool{},
		methods: map[string][]string{}, helpers: map[string]string{}}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(p.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		if strings.HasSuffix(name, "_test.go") {
			p.addTest(f)
		} else {
			p.add(f)
		}
	}
	p.doc, err = doc.NewFromFiles(p.fset, files, modulePath+"/"+dir, doc.PreserveAST)
	return p, err
}

// add notes the functions and types of a file.
func (p *goPackage) add(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
				if !d.Name.IsExported() {
					p.methods[d.Name.Name] = append(p.methods[d.Name.Name], name)
				}
			}
			p.funcs[name], p.file[name] = d, f
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					p.types[t.Name.Name] = true
				}
			}
		}
	}
}

// addTest notes the helpers that examples may call.
func (p *goPackage) addTest(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Doc != nil && d.Recv == nil && !d.Name.IsExported() {
			p.helpers[d.Name.Name] = strings.TrimSpace(d.Doc.Text())
		}
	}
}

// typeName returns the name of a type of the package, with or without a star; "" of others.
func typeName(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// name returns the name of the package: attention.
func (p *goPackage) name() string { return path.Base(p.dir) }

// functions lists the exported functions of the package in order of name.
func (p *goPackage) functions() []*doc.Func {
	list := slices.Clone(p.doc.Funcs)
	for _, t := range p.doc.Types {
		list = append(list, t.Funcs...)
	}
	slices.SortFunc(list, func(a, b *doc.Func) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// mentions lists what the body of a function names: functions and types of its package by their
// names, methods that are not exported as "Type.method", of every type that has one of the name,
// and what other packages of the module export as "ops.Add".
func (p *goPackage) mentions(function string) []string {
	d := p.funcs[function]
	if d == nil || d.Body == nil {
		return nil
	}
	imported := map[string]string{}
	for _, i := range p.file[function].Imports {
		if to, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(to, modulePath+"/") {
			imported[path.Base(to)] = strings.TrimPrefix(to, modulePath+"/")
		}
	}
	found, field := map[string]bool{}, map[*ast.Ident]bool{} // a field or method is no function of its name
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			field[n.Sel] = true
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
				found[x.Name+"."+n.Sel.Name] = true
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				field[id] = true
			}
		case *ast.CallExpr: // a call or a conversion
			switch f := n.Fun.(type) {
			case *ast.Ident:
				if p.funcs[f.Name] != nil || p.types[f.Name] {
					found[f.Name] = true
				}
			case *ast.SelectorExpr:
				for _, m := range p.methods[f.Sel.Name] {
					found[m] = true
				}
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && p.types[id.Name] {
				found[id.Name] = true
			}
		case *ast.Ident: // a function that is handed on
			if n.IsExported() && p.funcs[n.Name] != nil && !field[n] {
				found[n.Name] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// calls lists the exported functions that a function of the package calls, itself or through
// unexported ones: those of its own package by their names, others as "ops.Add".
func (p *goPackage) calls(function string) []string {
	found := p.reached(function, func(m string) bool {
		_, other, ok := strings.Cut(m, ".")
		return ok && token.IsExported(other) || !ok && token.IsExported(m) && p.funcs[m] != nil
	})
	return slices.DeleteFunc(found, func(name string) bool { return name == function })
}

// reached lists the mentioned names that stop accepts, of a function and of all that it mentions otherwise.
func (p *goPackage) reached(function string, stop func(name string) bool) []string {
	found, seen := map[string]bool{}, map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, m := range p.mentions(name) {
			if stop(m) {
				found[m] = true
			} else {
				visit(m)
			}
		}
	}
	visit(function)
	return slices.Sorted(maps.Keys(found))
}

// adds lists the types among the given ones of which a function makes values, itself or through any
// function of its package.
func (p *goPackage) adds(function string, types map[string]string) []string {
	return p.reached(function, func(m string) bool { return types[m] != "" })
}

// signature returns a function as other packages call it, with its parameters:
// ops.Softmax(x *graph.Node, axis any) *graph.Node.
func (p *goPackage) signature(f *doc.Func) string {
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, &ast.FuncDecl{Name: f.Decl.Name, Recv: f.Decl.Recv, Type: f.Decl.Type}); err != nil {
		return err.Error()
	}
	text := strings.TrimPrefix(b.String(), "func ")
	if f.Recv != "" {
		return text
	}
	return p.name() + "." + text
}

// declaration returns the declaration of a type, without its doc and its unexported fields.
func (p *goPackage) declaration(t *doc.Type) string {
	d := *t.Decl
	d.Doc = nil
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, &d); err != nil {
		return err.Error()
	}
	return b.String()
}

// takes lists the types of the package that the parameters and results of a function have.
func (p *goPackage) takes(f *doc.Func) []string {
	var list []string
	ast.Inspect(f.Decl.Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.types[id.Name] {
			list = append(list, id.Name)
		}
		_, other := n.(*ast.SelectorExpr) // of another package
		return !other
	})
	return list
}

// exampleCode returns the body of an example, and the docs of the helpers in its test that it
// calls.
func (p *goPackage) exampleCode(e *doc.Example) (code string, helpers []string) {
	block, ok := e.Code.(*ast.BlockStmt)
	if !ok {
		return "", nil
	}
	var kept []*ast.CommentGroup
	for _, c := range e.Comments {
		if text := strings.ToLower(c.Text()); !strings.HasPrefix(text, "output:") && !strings.HasPrefix(text, "unordered output:") {
			kept = append(kept, c)
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, &printer.CommentedNode{Node: block, Comments: kept}); err != nil {
		return err.Error(), nil
	}
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(b.String(), "{"), "}"), "\n") {
		lines = append(lines, strings.TrimRightFunc(strings.TrimPrefix(l, "\t"), unicode.IsSpace))
	}
	ast.Inspect(block, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && p.helpers[id.Name] != "" && !slices.Contains(helpers, p.helpers[id.Name]) {
				helpers = append(helpers, p.helpers[id.Name])
			}
		}
		return true
	})
	return strings.TrimSpace(strings.Join(lines, "\n")), helpers
}
