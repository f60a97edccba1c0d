package report

import (
	"encoding/json"
	"reflect"
)

// data is the page's numbers as JSON text that may stand within a script element:
// json.Marshal writes <, > and & as escapes.
func (p Page) data() ([]byte, error) { return json.Marshal(plain(reflect.ValueOf(p))) }

// plain is a value for encoding/json, which rejects numbers that are not finite:
// they become null. Fields marked "-" are left out, and those marked ",omitempty"
// where they are zero.
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
		return fields
	case reflect.Slice, reflect.Array:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = plain(v.Index(i))
		}
		return items
	case reflect.Float64:
		if !finite(v.Float()) {
			return nil
		}
	}
	return v.Interface()
}
