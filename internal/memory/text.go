package memory

import "fmt"

// Text returns a number of bytes as people read it: 512 B, 1.5 KiB, 3.0 TiB.
func Text(bytes int64) string {
	if bytes < 1<<10 {
		return fmt.Sprintf("%d B", bytes)
	}
	v, unit := float64(bytes), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v /= 1 << 10; v < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
