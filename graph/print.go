package graph

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// The text form, a node a line:
//
//	%3 = Sum{axes=[1] keep} %2 : f32[i=150 j=1] ; "s" @main.go:11 in "assign" | @main.go:14
//
// that is: number, operation with its attributes that are not zero, inputs,
// type, and after the semicolon the occurrences, separated by bars: name, user's
// line, scope, and for a derivative "grad %of %loss" or "adjoint %of %loss", for
// a rewrite rule="...". After the nodes stand the updates (update %1 <- %9) and
// the derivations (gradient %8 wrt %1 = %12 from %9). Before the nodes stand the
// bodies of their operations, each a graph between the lines "body 1" and "end"
// that ends with its inputs and its results (in %0 %1, out %4).

// String returns the text form, which [Parse] reads.
func (g *Graph) String() string {
	var b strings.Builder
	g.Dump(&b)
	return b.String()
}

// Dump writes the text form, from which [Parse] makes an equal graph. The error is the writer's.
func (g *Graph) Dump(w io.Writer) error {
	switch {
	case g == nil:
		return errNoGraph
	case w == nil:
		return errors.New("graph: no writer to dump to")
	}
	p := &printer{w: w}
	p.printf("graph %q\n", g.name)
	for i, b := range g.bodies {
		p.printf("body %d\n", i+1)
		for line := range strings.Lines(b.dump()) {
			p.printf("  %s", line)
		}
		p.printf("end\n")
	}
	for _, n := range g.nodes {
		p.printf("%s", n.line())
		for i, o := range n.occurs {
			if i == 0 {
				p.printf(" ;")
			} else {
				p.printf(" |")
			}
			p.printf("%s", o.text())
		}
		p.printf("\n")
	}
	for _, u := range g.updates {
		p.printf("update %%%d <- %%%d\n", u.Target.id, u.Value.id)
	}
	for _, d := range g.derived {
		p.printf("gradient %%%d wrt %%%d = %%%d from %%%d\n", d.Loss.id, d.Wrt.id, d.Grad.id, d.First)
	}
	return p.err
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// line returns the node's line without its occurrences.
func (n *Node) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%%%d = ", n.id)
	if v, ok := n.Constant(); ok {
		fmt.Fprintf(&b, "constant{%v}", v)
	} else {
		b.WriteString(OpText(n.op))
	}
	for _, x := range n.in {
		if x == nil { // only Verify meets one
			b.WriteString(" nil")
		} else {
			fmt.Fprintf(&b, " %%%d", x.id)
		}
	}
	fmt.Fprintf(&b, " : %v", n.typ)
	return b.String()
}

func (o Occurrence) text() string {
	var b strings.Builder
	if o.Name != "" {
		b.WriteString(" " + strconv.Quote(o.Name))
	}
	if o.Pos.File != "" {
		file := o.Pos.File
		if strings.ContainsAny(file, " \t\r\n|;\"@:") || strconv.Quote(file) != `"`+file+`"` {
			file = strconv.Quote(file)
		}
		fmt.Fprintf(&b, " @%s:%d", file, o.Pos.Line)
	}
	if o.Scope != "" {
		b.WriteString(" in " + strconv.Quote(o.Scope))
	}
	if o.Origin.Kind != FromUser {
		fmt.Fprintf(&b, " %v %%%d %%%d", o.Origin.Kind, o.Origin.Of.id, o.Origin.Loss.id)
	}
	if o.Origin.Rule != "" {
		b.WriteString(" rule=" + strconv.Quote(o.Origin.Rule))
	}
	return b.String()
}

// OpText returns an operation with its attributes as the text form prints them: "Sum{axes=[1]
// keep}". Attributes that are zero are left out.
func OpText(op Op) string {
	if op == nil {
		return "nil"
	}
	v := reflect.ValueOf(op)
	if v.Kind() != reflect.Struct {
		return op.Name()
	}
	var attrs []string
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() || !v.Type().Field(i).IsExported() {
			continue
		}
		name := attrName(v.Type().Field(i).Name)
		if f.Kind() == reflect.Bool {
			attrs = append(attrs, name)
		} else {
			attrs = append(attrs, name+"="+attrText(f))
		}
	}
	if len(attrs) == 0 {
		return op.Name()
	}
	return op.Name() + "{" + strings.Join(attrs, " ") + "}"
}

func attrName(field string) string { return strings.ToLower(field[:1]) + field[1:] }

func attrText(f reflect.Value) string {
	if m, ok := f.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		if err != nil {
			return strconv.Quote(err.Error())
		}
		return string(b)
	}
	if f.Kind() == reflect.String {
		return strconv.Quote(f.String())
	}
	return fmt.Sprint(f.Interface())
}
