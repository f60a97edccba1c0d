package chart

// shapes has the markers as polygons around the origin, with about the area of the unit circle;
// the empty one stands for the circle itself.
var shapes = [...][]point{
	{}, // circle
	{{-.89, -.89}, {.89, -.89}, {.89, .89}, {-.89, .89}}, // square
	{{0, -1.25}, {1.2, .85}, {-1.2, .85}},                // triangle
	{{0, -1.3}, {1.2, 0}, {0, 1.3}, {-1.2, 0}},           // diamond
	{{0, 1.25}, {-1.2, -.85}, {1.2, -.85}},               // triangle, point down
	{{-.45, -1.2}, {.45, -1.2}, {.45, -.45}, {1.2, -.45}, {1.2, .45}, {.45, .45},
		{.45, 1.2}, {-.45, 1.2}, {-.45, .45}, {-1.2, .45}, {-1.2, -.45}, {-.45, -.45}}, // plus
	{{-1.15, 0}, {-.58, -1}, {.58, -1}, {1.15, 0}, {.58, 1}, {-.58, 1}}, // hexagon
}

// shape returns the data of a closed path: the group's marker of radius r at p.
func shape(group int, p point, r float64) raw {
	var c canvas
	polygon := shapes[group%len(shapes)]
	if len(polygon) == 0 {
		c.printf("M%v %vA%v %v 0 1 0 %v %vA%v %v 0 1 0 %v %vZ",
			p.x-r, p.y, r, r, p.x+r, p.y, r, r, p.x-r, p.y)
		return raw(c.String())
	}
	corners := make([]point, len(polygon))
	for i, q := range polygon {
		corners[i] = point{p.x + float64(r*q.x), p.y + float64(r*q.y)}
	}
	return path(corners) + "Z"
}

// marker draws the group's marker with an outline that separates it from what is below.
func (c *canvas) marker(group int, p point, r float64) {
	c.printf("<path d=\"%v\"%v/>\n", shape(group, p, r), groupInk(group).ringed(2))
}
