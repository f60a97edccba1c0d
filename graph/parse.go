package graph

import (
	"bufio"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Limits of Parse.
const (
	maxParsed     = 1 << 24 // elements of one constant
	maxParsedLine = 1 << 26 // bytes of one line
	maxParsedDeep = 64      // bodies within bodies
)

// Parse reads the text form that [Graph.Dump] writes. The vocabulary lists the operations that may
// appear, each with any attributes, of which only the exported ones are read; two operations of one
// name are an error. All of the library's are in ops.List. The type of every node is inferred again
// and must be the one in the text. Errors name the line.
func Parse(r io.Reader, vocabulary ...Op) (*Graph, error) {
	if r == nil {
		return nil, errors.New("graph: no reader to parse from")
	}
	p := &parser{ops: map[string]Op{"input": leaf{role: RoleInput}, "param": leaf{role: RoleParam}, "state": leaf{role: RoleState}}}
	for _, op := range vocabulary {
		if op == nil {
			return nil, errors.New("graph: an operation of the vocabulary is nil")
		}
		name := op.Name()
		if other := p.ops[name]; other != nil && reflect.TypeOf(other) != reflect.TypeOf(op) {
			return nil, fmt.Errorf("graph: the vocabulary has two operations called %s, %T and %T: text cannot tell them apart", name, other, op)
		}
		p.ops[name] = op
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxParsedLine)
	for sc.Scan() {
		p.line++
		at, err := p.parseLine(strings.TrimSpace(sc.Text()))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		at.line, p = p.line, at
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line+1, err)
	}
	if p.outer != nil {
		return nil, fmt.Errorf("line %d: want end of the body", p.line+1)
	}
	if p.g == nil {
		return nil, fmt.Errorf("line 1: want graph \"name\"")
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := Verify(p.g); err != nil {
		return nil, err
	}
	return p.g, nil
}

type parser struct {
	g    *Graph
	ops  map[string]Op
	line int
	late []func() error // occurrences, whose origins may refer to later nodes

	outer   *parser // of a body: the parser of the graph around it
	depth   int
	in, out []*Node // of a body
}

// parseLine reads a line, and returns the parser for the next.
func (p *parser) parseLine(s string) (*parser, error) {
	t := tokens{rest: s}
	switch first := t.next(); {
	case first == "body" && p.g != nil:
		return p.parseBody(&t)
	case first == "end" && p.outer != nil && p.g != nil:
		if err := p.parseEnd(); err != nil {
			return p, err
		}
		return p.outer, t.end()
	default:
		return p, p.parseRest(first, &t)
	}
}

// finish reads the origins that had to wait for later nodes.
func (p *parser) finish() error {
	for _, late := range p.late {
		if err := late(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) parseRest(first string, t *tokens) (err error) {
	switch {
	case first == "":
		return nil
	case first == "in" && p.outer != nil && p.g != nil && p.in == nil:
		p.in, err = p.parseList(t)
		return err
	case first == "out" && p.outer != nil && p.g != nil && p.out == nil:
		p.out, err = p.parseList(t)
		return err
	case first == "graph" && p.g == nil:
		name, err := strconv.Unquote(t.next())
		if err != nil {
			return fmt.Errorf("graph: want a quoted name")
		}
		p.g = New(name)
		return t.end()
	case p.g == nil:
		return fmt.Errorf("want graph \"name\" first")
	case first == "update":
		target, value, err := p.pair(t, "<-")
		if err != nil {
			return err
		}
		p.g.Assign(target, value)
		return p.recorded(t.end())
	case first == "gradient":
		loss, wrt, err := p.pair(t, "wrt")
		if err != nil {
			return err
		}
		if t.next() != "=" {
			return fmt.Errorf("want =")
		}
		grad, err := p.node(t.next())
		if err != nil {
			return err
		}
		if t.next() != "from" {
			return fmt.Errorf("want from")
		}
		from, err := p.number(t.next())
		if err != nil {
			return err
		}
		p.g.RecordDerivation(Derivation{loss, wrt, grad, from})
		return t.end()
	default:
		return p.parseNode(first, t)
	}
}

func (p *parser) pair(t *tokens, between string) (a, b *Node, err error) {
	if a, err = p.node(t.next()); err != nil {
		return
	}
	if s := t.next(); s != between {
		return nil, nil, fmt.Errorf("want %s, got %q", between, s)
	}
	b, err = p.node(t.next())
	return
}

func (p *parser) parseNode(first string, t *tokens) error {
	id, err := p.number(first)
	if err != nil {
		return err
	}
	if id != len(p.g.nodes) {
		return fmt.Errorf("node %s: want %%%d", first, len(p.g.nodes))
	}
	if t.next() != "=" {
		return fmt.Errorf("want =")
	}
	name, attrs, _ := strings.Cut(t.next(), "{")
	attrs = strings.TrimSuffix(attrs, "}")
	var in []*Node
	s := t.next()
	for ; strings.HasPrefix(s, "%"); s = t.next() {
		x, err := p.node(s)
		if err != nil {
			return err
		}
		in = append(in, x)
	}
	var typ Type
	if s != ":" {
		return fmt.Errorf("want : and a type")
	}
	if err := typ.UnmarshalText([]byte(t.next())); err != nil {
		return err
	}
	n, err := p.make(name, attrs, in)
	if err != nil {
		return err
	}
	if n.typ != typ {
		return fmt.Errorf("%s has type %v, not %v", name, n.typ, typ)
	}
	if n.id != id {
		return fmt.Errorf("%s equals %%%d", first, n.id)
	}
	n.occurs = nil
	return p.parseOccurrences(n, t)
}

func (p *parser) make(name, attrs string, in []*Node) (*Node, error) {
	if name == "constant" {
		if len(in) != 0 {
			return nil, fmt.Errorf("constant: %d operands: want none", len(in))
		}
		var v Value
		if err := v.parse(attrs); err != nil {
			return nil, err
		}
		return p.g.ConstantValue(v), p.recorded(nil)
	}
	proto, ok := p.ops[name]
	if !ok {
		return nil, fmt.Errorf("unknown operation %q", name)
	}
	op, err := parseAttrs(proto, attrs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if l, ok := op.(leaf); ok {
		if p.g.byPath[l.Path] != nil || l.Path == "" || l.Type.DType == InvalidDType {
			return nil, fmt.Errorf("%s: want a path of its own and a type", name)
		}
	}
	n := p.g.Apply(op, in...)
	return n, p.recorded(nil)
}

// recorded returns err, or else the mistake that the graph has recorded, if any.
func (p *parser) recorded(err error) error {
	if err == nil && len(p.g.errs) > 0 {
		e := p.g.errs[0]
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}

func parseAttrs(proto Op, attrs string) (Op, error) {
	v := reflect.New(reflect.TypeOf(proto)).Elem()
	v.Set(reflect.ValueOf(proto))
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				v.Field(i).SetZero()
			}
		}
	}
	t := tokens{rest: attrs}
	for s := t.next(); s != ""; s = t.next() {
		key, text, hasText := strings.Cut(s, "=")
		f, ok := fieldOf(v, key)
		if !ok {
			return nil, fmt.Errorf("no attribute %q", key)
		}
		if err := setAttr(f, text, hasText); err != nil {
			return nil, fmt.Errorf("attribute %s: %w", key, err)
		}
	}
	return v.Interface().(Op), nil
}

func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && attrName(f.Name) == key {
				return v.Field(i), true
			}
		}
	}
	return reflect.Value{}, false
}

func setAttr(f reflect.Value, text string, hasText bool) error {
	switch u := f.Addr().Interface().(type) {
	case interface{ parse(text string) error }:
		return u.parse(text)
	case encoding.TextUnmarshaler:
		return u.UnmarshalText([]byte(text))
	}
	switch f.Kind() {
	case reflect.Bool:
		if hasText {
			return fmt.Errorf("want no value")
		}
		f.SetBool(true)
	case reflect.String:
		s, err := strconv.Unquote(text)
		if err != nil {
			return fmt.Errorf("want a quoted string")
		}
		f.SetString(s)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, f.Type().Bits())
		if err != nil {
			return err
		}
		f.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, err := strconv.ParseUint(text, 10, f.Type().Bits())
		if err != nil {
			return err
		}
		f.SetUint(i)
	default:
		return fmt.Errorf("a %v cannot be read", f.Type())
	}
	return nil
}

func (p *parser) number(s string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(s, "%"))
	if err != nil || !strings.HasPrefix(s, "%") || id < 0 {
		return 0, fmt.Errorf("want a node like %%3, got %q", s)
	}
	return id, nil
}

func (p *parser) node(s string) (*Node, error) {
	id, err := p.number(s)
	if err == nil && id >= len(p.g.nodes) {
		err = fmt.Errorf("node %s does not exist yet", s)
	}
	if err != nil {
		return nil, err
	}
	return p.g.nodes[id], nil
}

// tokens splits a line at spaces that are outside quotes and brackets.
type tokens struct{ rest string }

func (t *tokens) next() string {
	s := strings.TrimLeft(t.rest, " \t")
	depth, i := 0, 0
scan:
	for ; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ' ', '\t':
			if depth <= 0 {
				break scan
			}
		}
	}
	i = min(i, len(s))
	t.rest = s[i:]
	return s[:i]
}

func (t *tokens) end() error {
	if s := t.next(); s != "" {
		return fmt.Errorf("unexpected %q", s)
	}
	return nil
}
