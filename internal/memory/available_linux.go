package memory

import "os"

func available() (bytes int64, ok bool) { return linux(os.DirFS("/")) }
