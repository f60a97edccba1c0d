package nn

// Window describes how a layer slides along each of its spatial axes.
type Window struct {
	Size     int // K: elements of a window
	Stride   int // S: from window to window; 0 stands for 1
	Padding  int // P: how far windows reach out of the array, at both ends
	Dilation int // D: from element to element of a window; 0 stands for 1
}

// Out returns the number of windows over an axis of n elements,
//
//	(n − D·(K−1) − 1 + 2P)/S + 1, rounded down
//
// which is (W − K + 2P)/S + 1 of the notes on pooling where nothing is dilated; 0
// if no window fits.
func (w Window) Out(n int) int {
	w = w.explicit()
	if room := n - w.Dilation*(w.Size-1) - 1 + 2*w.Padding; room >= 0 {
		return room/w.Stride + 1
	}
	return 0
}

// Same returns the window with the padding for which a stride of 1 keeps the size of the axis; Size
// must be odd.
func (w Window) Same() Window {
	e := w.explicit()
	w.Padding = e.Dilation * (e.Size - 1) / 2
	return w
}

// Wide returns the window with the padding for which every window that meets the array counts: the
// wide convolution of the notes on text. Without padding, a convolution is narrow.
func (w Window) Wide() Window {
	e := w.explicit()
	w.Padding = e.Dilation * (e.Size - 1)
	return w
}

// explicit puts the numbers that the zeros stand for; a layer without a window
// takes each element for itself.
func (w Window) explicit() Window {
	w.Size, w.Stride, w.Dilation = max(w.Size, 1), max(w.Stride, 1), max(w.Dilation, 1)
	return w
}
