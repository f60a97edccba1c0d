package format

func (d *decoder) value(at, end int64) *Value {
	v := &Value{At: at}
	d.fields("value", at, end, func(f field) {
		switch f.num {
		case 1:
			v.Name = d.text(f)
		case 2:
			only(d, f, v.Type)
			v.Type = sub(d, f, d.typeOf)
		case 3:
			v.Doc = d.text(f)
		}
	})
	return v
}

func (d *decoder) typeOf(at, end int64) *Type {
	t := &Type{}
	told := false
	tell := func(f field, kind Kind) {
		if told {
			d.fail(f.at, "type: there are two types")
		}
		told, t.Kind = true, kind
	}
	of := func(f field, kind Kind) {
		tell(f, kind)
		d.message("type", f, func(f field) {
			switch {
			case f.num == 1 && kind == KindMap:
				t.Elem = DataType(d.small(f))
			case f.num == 1 || f.num == 2 && kind == KindMap:
				only(d, f, t.Of)
				t.Of = sub(d, f, d.typeOf)
			}
		})
		if t.Of == nil {
			d.fail(f.at, "type: a %v has no type of elements", kind)
		}
	}
	d.fields("type", at, end, func(f field) {
		switch f.num {
		case 1:
			tell(f, KindTensor)
			d.tensorType(t, f)
		case 4:
			of(f, KindSequence)
		case 5:
			of(f, KindMap)
		case 6:
			t.Denotation = d.text(f)
		case 8:
			tell(f, KindSparse)
			d.tensorType(t, f)
		case 9:
			of(f, KindOptional)
		}
	})
	return t
}

func (d *decoder) tensorType(t *Type, f field) {
	d.message("type", f, func(f field) {
		switch f.num {
		case 1:
			t.Elem = DataType(d.small(f))
		case 2:
			t.Ranked = true
			d.message("shape", f, func(f field) {
				if f.num == 1 {
					add(d, f, &t.Dims, d.dim(f))
				}
			})
		}
	})
}

func (d *decoder) dim(f field) Dim {
	dim := Dim{Size: -1}
	d.message("dimension", f, func(f field) {
		switch f.num {
		case 1:
			dim.Size = max(-1, d.int(f)) // some files say unknown by a negative number
		case 2:
			dim.Symbol = d.text(f)
		case 3:
			dim.Denotation = d.text(f)
		}
	})
	return dim
}
