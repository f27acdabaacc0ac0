// Package xacro expands the macro language in which robot descriptions are
// written: properties, macros, conditions, includes, arguments, YAML.
//
//	file.xacro ──Expand──▶ tree of XML without macros ──▶ package urdf
//
// It is ROS xacro 2.1 as its users know it, on the same terms: an element whose
// prefix is xacro is an instruction, ${…} holds an expression (package expr) and
// $(…) a substitution: find, arg, env, optenv, dirname, cwd, eval. Scopes are
// dynamic: a macro sees the properties of its caller. A property is evaluated
// when it is first needed, in the scope that holds it, once. A block is evaluated
// by the caller and once more where it is inserted.
//
// A file is data: nothing that it says can run code, leave the file system that
// Config gives, read the environment of the process (only Config.Env), or cost
// more than Limits. Mistakes are collected, each with file, line, offending text
// and the macros and includes on the way.
//
//	args, err := xacro.ParseArgs([]string{"prefix:=left_"})
//	files := locate.Files{FS: os.DirFS("/"), Dir: workingFolder, Packages: searchPath}
//	r, err := xacro.Expand("robot.urdf.xacro", xacro.Config{Files: files, Args: args})
//
// # Differences from ROS xacro
//
// The trees equal those of the PyPI package xacro 2.1.1, with these exceptions,
// all but the last group proven by TestBeyondXacro.
//
// More works here: brackets, strings and further ${…} inside of ${…}, and
// parentheses inside of $(eval …); $(dirname), which is the folder of the file in
// which it is written; package:// and file:// in names of files; xacro:attribute
// inside of conditions and macros, and with values that are not text; dotted
// access to every dictionary, also to keys such as copy; the functions of the
// name space python without it; $$ before other characters than { and (; a
// default that cannot be evaluated, as long as it is not needed.
//
// Less works here: values do not change, so append and update do not exist;
// lambda, sets, complex numbers, str.format and type are missing; ints have at
// most 4096 bits; a function that was not called has no text.
//
// Other is: comments are dropped, and with them xacro:eval-comments; a CDATA
// section beside other text is evaluated with it; name:= on the command line
// gives an empty argument, where ROS takes the default; dates in YAML are text;
// the last digit of a transcendental function is that of Go's math package, which
// may differ from Python's C library by one; an include that comes back to itself is
// refused at the eighth time.
package xacro
