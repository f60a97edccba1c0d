// Package notation reads objectives from small text files: inputs, parameters, then one named
// quantity a line with its axes stated.
//
//	objective "soft k-means"
//	input x[i=150, d=4] ~ clusters(size(j))
//	param r[j=3, d] ~ rows(x)
//	scalar gamma = 1  # temperature γ
//
//	D[i,j] = sum((x - r)^2, d)
//	alpha[i,j] = softmax(-gamma*D, j)
//	loss = mean(sum(alpha*D, j), i)
//
// [Parse] reads such a file and reports all of its mistakes at once. [File.Build] makes a model
// of it, [File.Builder] a builder that can be trained and compared like those of the registry,
// and [File.String] prints it in canonical form. A mistake is reported with its place, its cause,
// and the likely fix:
//
//	kmeans.tapestry:5:10: D has axes [i,j,d], but [i,j] are stated: sum over d? (x[i,d] − r[j,d] spans i, j, d)
//	    D[i,j] = (x - r)^2
//	             ^~~~~~~~~
//
// # Axes
//
// Axes have names, and arrays meet by them: x[i,d] − r[j,d] has the axes [i,j,d], whatever the
// order of the axes. A quantity states its axes. It is a mistake if the right side has any others
// or lacks one; this catches the accidental outer product and the forgotten sum. A quantity
// without axes is one number.
//
// The size of an axis is stated once, where the axis first occurs in an input, a parameter or a
// state: as a number, or as the name of another axis of the same size, as in y[m=d]. Numbers are
// defaults that a model's settings change. To combine an array with itself, rename an axis where
// the array is used: dot(x, x[i→k], d) has the axes [i,k]. Brackets that rename nothing list all
// axes, in any order: D[i,j] is D.
//
// A sum, a mean or the like over all axes names none: mean((y - t)^2). If no single quantity in
// it has all of them, it must name them: mean(x - r, i, j, d).
//
// # Statements
//
//	notation 1             the version of the notation; may be left out
//	objective "title"      the title of drawings
//	input x[i=150, d=4]    numbers that are fed
//	index a[i]             indices that are fed: labels, words
//	param r[j=3, d]        numbers that are trained
//	state s[j, d]          numbers that the file updates itself; they start at 0
//	scalar gamma = 1       a number that is a setting, and may be fed
//	D[i,j] = …             a quantity
//	s <- …                 the value of the state after a step
//	minimise loss          the loss; by default the quantity called loss
//	output y               the result; by default the loss, or the last quantity
//
// The expression after the ~ of a parameter or a state is its initial value: zeros, fill(v),
// normal(mean, deviation), uniform(low, high), glorot, glorot_uniform, he, he_uniform, xavier,
// orthogonal(gain), rows(x). A number that the type of the model cannot represent, such as 1e39 in
// float32, is reported at its line when the model is built. The expression after the ~ of an
// input says how to draw examples. It may use the inputs above it, scalars and draws, and is
// repeated along the axes that it lacks. Without a ~, examples of inputs are standard normal.
//
// With rows(x) a parameter or state r[j,d] starts at rows of the data that the input x[i,d] reads.
// If x is the only input, the model is a clustering, with a scalar gamma as its temperature, and is
// trained on data like the clusterings of the registry.
//
// # Grammar
//
//	file       = { [ statement ] [ comment ] newline } .
//	statement  = "notation" number | "objective" string | leaf | "scalar" name "=" [ "-" ] number
//	           | name [ axes ] "=" expression | name "<-" expression
//	           | ( "minimise" | "minimize" | "output" ) name .
//	leaf       = ( "input" | "index" | "param" | "state" ) name [ sizes ] [ "~" expression ] .
//	axes       = "[" [ name { "," name } ] "]" .
//	sizes      = "[" [ size { "," size } ] "]" .
//	size       = name [ "=" ( number | name ) ] .
//	expression = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ] .
//	sum        = [ "-" ] product { ( "+" | "-" ) product } .
//	product    = factor { ( "*" | "/" ) factor } .
//	factor     = "-" factor | atom [ "^" factor ] .
//	atom       = number | "(" expression ")" | name "(" [ expression { "," expression } ] ")" | name [ refs ] .
//	refs       = "[" ref { "," ref } "]" .
//	ref        = name [ "->" name ] .
//	comment    = "#" { character } .
//
// A name consists of letters of any alphabet, digits, _ and primes. The names of Greek letters
// stand for the letters: gamma and γ are one name, printed γ in formulas and drawings. Signs may
// be written as in mathematics: − · × ≤ ≥ ≠ ← → and raised digits, x². Within brackets, an
// indented line continues the one above.
//
// # Functions
//
// Every operation of package ops that is applied element by element to one array is a function,
// under its name in lower case: exp(x), log(x), tanh(x) and so on; [Reference] lists them all.
// The others are below. An axis is given by its name. Masks, which are the results of
// comparisons, and indices are not numbers; float converts them.
//
//	elu(x)                            x, or eˣ − 1 where x is negative
//	gelu(x)                           x·Φ(x)
//	silu(x)                           x·σ(x)
//	mish(x)                           x·tanh(log(1 + eˣ))
//	trigamma(x)                       derivative of digamma
//	maximum(a, b)                     the larger, element by element
//	minimum(a, b)                     the smaller, element by element
//	atan2(y, x)                       angle of the point (x, y), from −π to π
//	mod(a, b)                         remainder of a/b, with the sign of b
//	floordiv(a, b)                    a/b, rounded down
//	xlogy(x, y)                       x·log(y), and 0 where x is 0
//	clip(x, low, high)                x, or the nearer bound outside
//	where(mask, a, b)                 a where the mask is true, b elsewhere
//	and(a, b)                         both masks
//	or(a, b)                          either mask
//	not(a)                            the opposite of the mask
//	float(a)                          a mask as 0 and 1, indices as numbers
//	sum(x, axis, …)                   sum over the axes, or over all
//	mean(x, axis, …)                  mean over the axes, or over all
//	prod(x, axis, …)                  product over the axes, or over all
//	max(x, axis, …)                   largest over the axes, or over all
//	min(x, axis, …)                   smallest over the axes, or over all
//	var(x, axis, …)                   variance over the axes, or over all
//	norm(x, axis, …)                  √Σx² over the axes, or over all
//	logsumexp(x, axis, …)             log Σ eˣ over the axes, or over all
//	any(x, axis, …)                   whether the mask is true anywhere over the axes, or over all
//	all(x, axis, …)                   whether the mask is true everywhere over the axes, or over all
//	argmax(x, axis)                   index of the largest along the axis
//	argmin(x, axis)                   index of the smallest along the axis
//	softmax(x, axis)                  eˣ over its sum along the axis
//	logsoftmax(x, axis)               logarithm of softmax
//	sparsemax(x, axis)                max(x − τ, 0) with the sum 1 along the axis
//	cumsum(x, axis)                   running sum along the axis
//	cumprod(x, axis)                  running product along the axis
//	cummax(x, axis)                   running maximum along the axis
//	cummin(x, axis)                   running minimum along the axis
//	logcumsumexp(x, axis)             logarithm of the running sum of eˣ
//	sort(x, axis)                     the elements along the axis, smallest first
//	argsort(x, axis)                  indices along the axis, of the smallest first
//	standardise(x, axis, …)           (x − mean)/√(variance + 10⁻⁵) over the axes: layer norm
//	dot(a, b, axis, …)                Σ a·b over axes that both have: a matrix product
//	conv(x, w, c, axis, window, …)    Σ x·w over channels c and the window around each element, 0 outside
//	maxpool(x, size, axis, …)         the largest of so many elements around each, along the axes
//	avgpool(x, size, axis, …)         the average of so many elements around each, those that there are
//	onehot(index, axis)               1 at the index along a new axis, 0 elsewhere
//	take(x, index, axis)              the elements of x at the indices along the axis
//	searchsorted(limits, x, axis)     how many of the sorted limits, along the axis, are less than x
//	size(axis)                        the size of an axis, a number
//	inv(A, row, column)               inverse: A⁻¹ over the columns and the rows
//	solve(A, b, row, column)          x with A·x = b, where b has the axis of the rows: A⁻¹·b
//	det(A, row, column)               determinant
//	logdet(A, row, column)            log|det A|, which neither overflows nor underflows
//	trace(A, row, column)             sum of the diagonal
//	diag(A, row, column)              the diagonal, over the rows
//	cholesky(A, row, column)          lower triangular L with L·Lᵀ = A
//	tril(A, row, column)              lower triangle, and 0 above
//	triu(A, row, column)              upper triangle, and 0 below
//	matrixexp(A, row, column)         eᴬ = I + A + A²/2! + …
//	eigenvalues(A, row, column)       of the symmetric part, ascending over the columns
//	eigenvectors(A, row, column)      of the symmetric part, as columns
//	matrixpower(A, p, row, column)    Aᵖ for a whole number p, of the inverse where it is negative
//	eye(row, column)                  the unit matrix, as large as the axis of the rows
//	normal(mean, deviation, axis, …)  normal numbers
//	uniform(low, high, axis, …)       uniform numbers
//	signs(axis, …)                    1 or −1
//	integers(n, axis, …)              indices below n
//	clusters(k, axis, …)              points of k widely separated groups; the last axis has the features
//
// # Limits
//
// A file has at most 64 KiB, and expressions nest at most 64 deep. Inputs, parameters and states
// have at most 2²⁷ elements, computed values at most 2³¹.
package notation
