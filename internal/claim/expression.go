package claim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
)

var ofModel = regexp.MustCompile(`^ of ([a-z][a-z0-9-]*(?:\{[^}]*\})?)`)

// other finds the model of a quantity that is followed by "of" and a model, and where that ends.
// Quantities have no spaces.
func (k *checking) other(w *world, text string) (*world, string, error) {
	end := strings.IndexByte(text, ' ')
	if end < 0 {
		return w, "", nil
	}
	m := ofModel.FindStringSubmatch(text[end:])
	if name, _, _ := strings.Cut(text[:end], "["); m == nil || strings.ContainsAny(name, "(),+*·−") {
		return w, "", nil
	}
	under := k.claim.under
	under.model = m[1]
	o, err := k.world(k.ctx, under)
	return o, text[:end], err
}

// expression rewrites an expression for the file: quantities become inputs, whose numbers are
// returned.
func (k *checking) expression(w *world, text string) (string, []int, error) {
	var out strings.Builder
	var refs []int
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if last, _ := utf8.DecodeLastRuneInString(text[:i]); inName(r) && inName(last) && i > 0 {
			out.WriteString(text[i : i+size])
			i += size
			continue
		}
		if k.isAxis(w, out.String(), text[i:]) {
			n := nameLength(text[i:])
			out.WriteString(text[i : i+n])
			i += n
			continue
		}
		in, read, err := k.input(w, text[i:])
		if err != nil {
			return "", nil, err
		}
		if read == 0 {
			out.WriteString(text[i : i+size])
			i += size
			continue
		}
		refs = append(refs, in)
		out.WriteString(k.inputs[in].name)
		i += read
	}
	return out.String(), refs, nil
}

// nameLength returns the length of the name that a text begins with.
func nameLength(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !inName(r) })
	if n < 0 {
		return len(text)
	}
	return n
}

// isAxis reports whether a name that stands as an argument, or in the brackets of what the claim
// defines, is an index of the claim, or else no one quantity.
func (k *checking) isAxis(w *world, before, text string) bool {
	n := nameLength(text)
	if n == 0 {
		return false
	}
	before = strings.TrimRight(before, " ")
	after := strings.TrimLeft(text[n:], " ")
	argument := strings.HasSuffix(before, ",") || strings.HasSuffix(before, "size(") || strings.HasSuffix(before, "[")
	closed := strings.HasPrefix(after, ",") || strings.HasPrefix(after, ")") || strings.HasPrefix(after, "]")
	if !argument || !closed {
		return false
	}
	name := strings.ReplaceAll(text[:n], "'", "′")
	if _, sized := k.sizes[name]; sized || w.whole[name] == nil && len(w.names[name]) > 1 {
		return true
	}
	return regexp.MustCompile(`\[([^\]]*[^\p{L}])?` + regexp.QuoteMeta(name) + `([^\p{L}′'][^\]]*)?\]`).MatchString(k.claim.Text)
}

// position is the number of an index.
var position = regexp.MustCompile(`^at\(([\p{L}_][\p{L}\p{Mn}\d_′']*)\)`)

// input enters the quantity that a text begins with, and returns its number and the bytes read: 0
// if there is none.
func (k *checking) input(w *world, text string) (number, read int, err error) {
	if m := position.FindStringSubmatch(text); m != nil {
		return k.enter(input{index: strings.ReplaceAll(m[1], "'", "′")}), len(m[0]), nil
	}
	from, head, err := k.other(w, text)
	if err != nil {
		return 0, 0, err
	}
	tail := 0
	if head != "" {
		tail = len(ofModel.FindString(text[len(head):]))
		text = head
	}
	n, read, err := from.quantity(text)
	if err != nil {
		return 0, 0, err
	}
	if n == nil {
		if word := text[:nameLength(text)]; word == "parameters" {
			return k.enter(input{number: float64(parameters(from.m))}), len(word) + tail, nil
		}
		if tail > 0 {
			return 0, 0, fmt.Errorf("%s has no quantity %s", from.under.model, text)
		}
		return 0, 0, nil
	}
	defer func() {
		if err == nil && tail > 0 && read != len(head)+tail {
			err = fmt.Errorf("%s has no quantity %s", from.under.model, head)
		}
	}()
	if axis, ok := strings.CutPrefix(text[read:], "."); ok {
		axis = axis[:nameLength(axis)]
		i := n.Shape().Index(axis)
		if place, err := strconv.Atoi(axis); err == nil && place >= 1 && place <= n.Rank() {
			i = place - 1
		}
		if i < 0 {
			return 0, 0, fmt.Errorf("%v has no axis %q", n, axis)
		}
		return k.enter(input{number: float64(n.Dim(i))}), read + 1 + len(axis) + tail, nil
	}
	r := reference{w: from, n: n}
	if strings.HasPrefix(text[read:], "[") {
		subs, length, err := brackets(text[read:], n)
		if err != nil {
			return 0, 0, err
		}
		r.subs, read = subs, read+length
	} else if r.subs, err = own(n); err != nil {
		return 0, 0, err
	}
	r.text = text[:read]
	if err := r.sizes(k.sizes); err != nil {
		return 0, 0, err
	}
	return k.enter(input{ref: r}), read + tail, nil
}

// enter adds an input under a name of its own.
func (k *checking) enter(in input) int {
	in.name = fmt.Sprintf("in%d_%s", len(k.inputs), plain(in.ref.text))
	k.inputs = append(k.inputs, in)
	return len(k.inputs) - 1
}

// parameters returns the number of scalars that training changes.
func parameters(m *builders.Model) (count int) {
	for _, p := range lab.Trained(m) {
		count += p.Shape().Len()
	}
	return count
}
