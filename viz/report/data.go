package report

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// data returns the page's numbers as JSON text that may stand inside a script element:
// json.Marshal escapes <, > and &.
func (p Page) data() ([]byte, error) { return json.Marshal(plain(reflect.ValueOf(p))) }

// plain converts a value for encoding/json, which rejects numbers that are not finite: they
// become null. Fields marked "-" are left out, and so are zero fields marked ",omitempty". Curves
// become courses.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if tag := f.Tag.Get("json"); tag != "-" && !(tag == ",omitempty" && v.Field(i).IsZero()) {
				fields[f.Name] = plain(v.Field(i))
			}
		}
		switch x := v.Interface().(type) {
		case Setup:
			fields["Gamma"] = courseOf(x.Gamma, nil, nil)
		case Method:
			x.courses(fields)
		}
		return fields
	case reflect.Slice, reflect.Array:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = plain(v.Index(i))
		}
		return items
	case reflect.Float64:
		return digits(v.Float())
	}
	return v.Interface()
}

// digits returns a number to seven digits, as many as the page shows at most and a float32 has;
// nil if it is not finite.
func digits(v float64) any {
	if !finite(v) {
		return nil
	}
	return json.Number(strconv.FormatFloat(v, 'g', 7, 64))
}

// courses adds the method's curves to its fields, including the steps that the page names.
func (m Method) courses(fields map[string]any) {
	var named []int
	if step, ok := settled(m.typical(inertia)); ok {
		named = []int{step}
	}
	for i, r := range m.Runs {
		run := fields["Runs"].([]any)[i].(map[string]any)
		for _, c := range []struct {
			name string
			of   curve
			at   []int
		}{{"Loss", loss, nil}, {"Movement", movement, nil}, {"Inertia", inertia, r.At}, {"Spread", spread, r.At}, {"Angle", angle, r.At}} {
			if v := c.of(r); len(v) > 0 {
				run[c.name] = courseOf(v, c.at, named)
			}
		}
	}
	ways := []course{}
	for _, way := range m.Paths {
		at := m.best().At
		if len(at) != len(way) {
			at = nil
		}
		ways = append(ways, wayOf(way, at))
	}
	fields["Paths"] = ways
}
