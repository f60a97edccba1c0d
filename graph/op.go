package graph

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph/initial"
)

// Op is an operation with its attributes: a small comparable value without slices or
// raw floats (see package attr). Attributes are exported fields, so that the text form
// prints and reads them.
//
// The interface has only what building a graph needs. Package trait lists the further methods
// of operations: definitions, derivatives, notation and more.
type Op interface {
	// Name returns the name for people and the text form, in CamelCase: "Sum". Nothing else knows
	// operations by their names: one from outside package ops with the name of one there is another
	// operation. Only a text form in which both may appear cannot be read.
	Name() string
	// Infer returns the type of the result, or the reason that these operands do not
	// fit, as a *[Mistake] if there is advice. It gets valid nodes of one graph only.
	Infer(in []*Node) (Type, error)
}

// Mistake is an error with advice: what is wrong, and the likely remedy.
type Mistake struct{ Problem, Fix string }

// Error returns the problem alone; [Error] prints the fix after it.
func (m *Mistake) Error() string { return m.Problem }

// checkOp refuses operations that == does not compare by their contents, and names that the text
// form cannot tell from its own words.
func checkOp(op Op) error {
	if op == nil {
		return fmt.Errorf("no operation")
	}
	name, t := op.Name(), reflect.TypeOf(op)
	if !isName(name) {
		return fmt.Errorf("an operation of type %v has the name %q: want CamelCase, as in LogSumExp", t, name)
	}
	switch op.(type) {
	case leaf, constant:
	default:
		if isWord(name) {
			return &Mistake{"the name is a word of the text form", "give it another name"}
		}
	}
	return checkAttr(t, name)
}

// isWord reports whether the text form uses a name for leaves or constants.
func isWord(name string) bool {
	return slices.Contains([]string{RoleInput.String(), RoleParam.String(), RoleState.String(), constant{}.Name()}, name)
}

// isName reports whether the text form can tell a name from what stands beside it.
func isName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// The types that hold pointers and are compared with == all the same.
var shapeType, initType = reflect.TypeFor[Shape](), reflect.TypeFor[initial.Init]()

func checkAttr(t reflect.Type, where string) error {
	if t == shapeType || t == initType {
		return nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	case reflect.Array:
		return checkAttr(t.Elem(), where)
	case reflect.Struct:
		for i := range t.NumField() {
			if err := checkAttr(t.Field(i).Type, where+"."+t.Field(i).Name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("attribute %s has type %v: attributes are bools, integers, strings and arrays or structs of these", where, t)
}
