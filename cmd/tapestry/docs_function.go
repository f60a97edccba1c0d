package main

import (
	"fmt"
	"go/doc"
	"go/doc/comment"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// goReference holds the functions and types that the reference shows, and their pages.
type goReference struct {
	packages []*goPackage
	page     map[string]string   // by "attention.Attend": the page, without its extension
	onOp     map[string][]string // by the name of an operation: the functions of package ops on its page
	partOf   map[string][]string // by the name of an operation: functions made of it and others
}

// layout are operations that many functions add to bring operands into shape.
var layout = []match.Kind{match.Broadcast, match.Reshape, match.Transpose}

// readGo reads the source of the documented packages, and gives each function and type a page: that
// of an operation to functions of package ops that add this one, else one of its own.
func readGo() (*goReference, error) {
	packages, err := readPackages()
	if err != nil {
		return nil, err
	}
	r := &goReference{packages: packages, page: map[string]string{}, onOp: map[string][]string{}, partOf: map[string][]string{}}
	for _, p := range packages {
		if p.dir == "ops" {
			r.placeOps(p)
			continue
		}
		for _, f := range p.doc.Funcs {
			r.page[p.name()+"."+f.Name] = p.dir + "/" + f.Name
		}
		for _, t := range p.doc.Types {
			r.page[p.name()+"."+t.Name] = p.dir + "/" + t.Name
			for _, f := range t.Funcs {
				r.page[p.name()+"."+f.Name] = p.dir + "/" + t.Name
			}
		}
	}
	return r, nil
}

// placeOps gives the functions of package ops over nodes their pages, and the types that these
// take. The other exports of the package are for those who write operations, and have none.
func (r *goReference) placeOps(p *goPackage) {
	operation := map[string]string{} // by its Go type
	var bringing []string            // the names of layout
	for _, op := range ops.List() {
		operation[strings.TrimPrefix(fmt.Sprintf("%T", op), "ops.")] = op.Name()
		if slices.Contains(layout, match.Of(op)) {
			bringing = append(bringing, op.Name())
		}
	}
	for _, f := range p.functions() {
		var added []string
		for _, typ := range p.adds(f.Name, operation) {
			added = append(added, operation[typ])
		}
		if len(added) == 0 && !strings.Contains(p.signature(f), "*graph.Node") {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(added), func(op string) bool { return slices.Contains(bringing, op) })
		if len(own) == 0 {
			own = added
		}
		at, named := f.Name, slices.Contains(added, f.Name)
		if !named && len(own) == 1 {
			at = own[0]
		}
		r.page["ops."+f.Name] = "ops/" + at
		if named || len(own) == 1 {
			r.onOp[at] = append(r.onOp[at], f.Name)
			continue
		}
		for _, op := range own {
			r.partOf[op] = append(r.partOf[op], f.Name)
		}
	}
	for _, t := range p.doc.Types {
		taken := slices.ContainsFunc(p.functions(), func(f *doc.Func) bool {
			return r.page["ops."+f.Name] != "" && slices.Contains(p.takes(f), t.Name)
		})
		if !taken {
			continue
		}
		r.page["ops."+t.Name] = "ops/" + t.Name
		for _, f := range t.Funcs {
			if r.page["ops."+f.Name] == "" {
				r.page["ops."+f.Name] = "ops/" + t.Name
			}
		}
	}
}

// goPages returns the pages of functions and types that are not on the page of an operation.
func (r *goReference) goPages() []referencePage {
	var pages []referencePage
	for _, p := range r.packages {
		for _, t := range p.doc.Types {
			if at := r.page[p.name()+"."+t.Name]; at == p.dir+"/"+t.Name {
				pages = append(pages, referencePage{at + ".md", r.typePage(p, t)})
			}
		}
		for _, f := range p.functions() {
			if at := r.page[p.name()+"."+f.Name]; at == p.dir+"/"+f.Name && !slices.Contains(r.onOp[f.Name], f.Name) {
				pages = append(pages, referencePage{at + ".md", generated + "# " + f.Name + "\n\n" + imports(p) + r.function(p, f, at)})
			}
		}
	}
	return pages
}

// imports says where a function is.
func imports(p *goPackage) string {
	return fmt.Sprintf("In package `%s/%s`:\n\n", modulePath, p.dir)
}

// typePage returns the page of a type, with the functions that make one and its methods.
func (r *goReference) typePage(p *goPackage, t *doc.Type) string {
	at := r.page[p.name()+"."+t.Name]
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s```go\n%s\n```\n\n%s", generated, t.Name, imports(p), p.declaration(t), r.markdown(p, t.Doc, at))
	b.WriteString(r.examples(p, t.Examples))
	for _, f := range slices.Concat(t.Funcs, t.Methods) {
		if r.page[p.name()+"."+f.Name] == at || f.Recv != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s", f.Name, r.function(p, f, at))
		}
	}
	return b.String()
}

// onPage returns the section of the page of an operation on the functions that add it.
func (r *goReference) onPage(op ops.Op) string {
	var b strings.Builder
	b.WriteString("\n## In Go\n\n")
	for _, p := range r.packages {
		if p.dir != "ops" {
			continue
		}
		for _, f := range p.functions() {
			if slices.Contains(r.onOp[op.Name()], f.Name) {
				b.WriteString(r.function(p, f, "ops/"+op.Name()) + "\n")
			}
		}
	}
	var parts []string
	for _, f := range r.partOf[op.Name()] {
		parts = append(parts, r.link("ops", f, "ops/"+op.Name()))
	}
	switch made := strings.Join(parts, ", "); {
	case len(r.onOp[op.Name()]) == 0 && made == "":
		return "\n## In Go\n\nNo function adds it: derivatives, batching and rewriting do.\n"
	case len(r.onOp[op.Name()]) == 0:
		return "\n## In Go\n\nNo function adds it alone; it is a part of " + made + ".\n"
	case made != "":
		b.WriteString("It is also a part of " + made + ".\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// function returns the signature of a function or method, its doc, its examples, and the functions
// that it calls.
func (r *goReference) function(p *goPackage, f *doc.Func, at string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "```go\n%s\n```\n\n%s%s", p.signature(f), r.markdown(p, f.Doc, at), r.examples(p, f.Examples))
	name := f.Name
	if f.Recv != "" {
		name = strings.TrimPrefix(f.Recv, "*") + "." + name
	}
	var calls []string
	for _, c := range p.calls(name) {
		pkg, other, ok := strings.Cut(c, ".")
		if !ok {
			pkg, other = p.name(), c
		}
		if to := r.page[pkg+"."+other]; to != "" && to != at && !r.isType(pkg, other) {
			calls = append(calls, r.link(pkg, other, at))
		}
	}
	if len(calls) > 0 && !slices.Contains(r.onOp[f.Name], f.Name) {
		fmt.Fprintf(&b, "\nIt calls %s.\n", strings.Join(calls, ", "))
	}
	return b.String()
}

// isType reports whether what a package exports by a name is a type.
func (r *goReference) isType(pkg, name string) bool {
	return slices.ContainsFunc(r.packages, func(p *goPackage) bool { return p.name() == pkg && p.types[name] })
}

// examples returns the examples that have an output.
func (r *goReference) examples(p *goPackage, list []*doc.Example) string {
	var b strings.Builder
	for _, e := range list {
		if e.Output != "" {
			code, helpers := p.exampleCode(e)
			for i, doc := range helpers {
				helpers[i] = "; here " + strings.TrimRight(strings.Join(strings.Fields(doc), " "), ".")
			}
			fmt.Fprintf(&b, "\nFor example%s:\n\n```go\n%s\n```\n\n```\n%s```\n", strings.Join(helpers, ""), code, e.Output)
		}
	}
	return b.String()
}

// markdown returns a doc comment for a page, with links to other pages.
func (r *goReference) markdown(p *goPackage, text, at string) string {
	pr := p.doc.Printer()
	pr.HeadingLevel, pr.HeadingID = 3, func(*comment.Heading) string { return "" }
	pr.DocLinkURL = func(l *comment.DocLink) string {
		pkg, name := path.Base(l.ImportPath), l.Name
		if l.ImportPath == "" {
			pkg = p.name()
		}
		if l.Recv != "" {
			name = l.Recv
		}
		if to := r.page[pkg+"."+name]; to != "" {
			return relative(at, to)
		}
		if l.ImportPath == "" {
			l.ImportPath = modulePath + "/" + p.dir
		}
		return l.DefaultURL("https://pkg.go.dev/")
	}
	return string(pr.Markdown(p.doc.Parser().Parse(text)))
}

// link returns a link on one page to the page of a function.
func (r *goReference) link(pkg, name, at string) string {
	label := name
	if pkg != path.Base(path.Dir(at)) {
		label = pkg + "." + name
	}
	return fmt.Sprintf("[%s](%s)", label, relative(at, r.page[pkg+"."+name]))
}

// relative returns the path from one page to another, with its extension.
func relative(at, to string) string {
	up := strings.Repeat("../", strings.Count(at, "/"))
	if path.Dir(at) == path.Dir(to) {
		return path.Base(to) + ".md"
	}
	return up + to + ".md"
}

// index returns the tables of the pages of each package, with the first sentence of each.
func (r *goReference) index() string {
	var b strings.Builder
	for _, p := range r.packages {
		title := "Package " + p.dir
		if p.dir == "ops" {
			title = "Functions made of several operations"
		}
		fmt.Fprintf(&b, "\n## %s\n\n| in Go | does |\n|---|---|\n", title)
		first := map[string]string{}
		for _, t := range p.doc.Types {
			first[t.Name] = t.Doc
		}
		for _, f := range p.functions() {
			if at := r.page[p.name()+"."+f.Name]; at == p.dir+"/"+f.Name && !slices.Contains(r.onOp[f.Name], f.Name) {
				first[f.Name] = f.Doc
			}
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			if at := r.page[p.name()+"."+name]; at != "" {
				fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", name, at, inCell(strings.TrimRight(p.doc.Synopsis(first[name]), ":,")))
			}
		}
	}
	return b.String()
}
