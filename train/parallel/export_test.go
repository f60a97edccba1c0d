package parallel

// Here returns the number of lanes that wait.
func (v *Rendezvous) Here() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.here
}

// Kept returns the terms that a bucket has memory for, after a sum, and the bytes of all its memory.
func (b *Bucket) Kept() (terms, bytes int) {
	all := append([]vector{b.total}, b.free...)
	for _, v := range all {
		bytes += aligned(len(v.mem)) + len(v.block)
	}
	return len(all), bytes + len(b.scratch.in) + len(b.scratch.out)
}
