package memory

import "os"

func available() (bytes int64, ok bool) { return linux(os.DirFS("/")) }

func addressSpace() (bytes int64, limited bool) { return linuxSpace(os.DirFS("/")) }
