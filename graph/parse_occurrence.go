package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseOccurrences reads the occurrences, after the semicolon of a node's line.
func (p *parser) parseOccurrences(n *Node, t *tokens) error {
	s := t.next()
	if s == "" {
		return nil
	}
	if s != ";" {
		return fmt.Errorf("want ; before the occurrences, got %q", s)
	}
	line := p.line
	o := Occurrence{}
	origins := []string{}
	flush := func() {
		i := len(n.occurs)
		n.occurs = append(n.occurs, o)
		if len(origins) == 2 {
			refs := origins
			p.late = append(p.late, func() (err error) {
				if n.occurs[i].Origin.Of, err = p.node(refs[0]); err == nil {
					n.occurs[i].Origin.Loss, err = p.node(refs[1])
				}
				if err != nil {
					err = fmt.Errorf("line %d: %w", line, err)
				}
				return err
			})
		}
		o, origins = Occurrence{}, nil
	}
	for s = t.next(); s != ""; s = t.next() {
		switch {
		case s == "|":
			flush()
		case s[0] == '"':
			name, err := strconv.Unquote(s)
			if err != nil {
				return fmt.Errorf("name %s: %w", s, err)
			}
			o.Name = name
		case s[0] == '@':
			i := strings.LastIndexByte(s, ':')
			ln, err := strconv.Atoi(s[i+1:])
			if i < 0 || err != nil {
				return fmt.Errorf("position %s: want @file:line", s)
			}
			file := s[1:i]
			if strings.HasPrefix(file, `"`) {
				if file, err = strconv.Unquote(file); err != nil {
					return fmt.Errorf("position %s: %w", s, err)
				}
			}
			o.Pos = Pos{file, ln}
		case s == "in":
			scope, err := strconv.Unquote(t.next())
			if err != nil {
				return fmt.Errorf("in: want a quoted scope")
			}
			o.Scope = scope
		case slices.Contains(originNames[FromGrad:], s):
			o.Origin.Kind = OriginKind(slices.Index(originNames[:], s))
			origins = []string{t.next(), t.next()}
		case strings.HasPrefix(s, "rule="):
			rule, err := strconv.Unquote(s[len("rule="):])
			if err != nil {
				return fmt.Errorf("rule: want a quoted name")
			}
			o.Origin.Rule = rule
		default:
			return fmt.Errorf("occurrence: unexpected %q", s)
		}
	}
	flush()
	return nil
}
