#include "textflag.h"

// tail masks: four of these from offset 8·(4−r) on keep the first r of four numbers; the
// addRows blocks read sixteen from offset 8·(16−r).
DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+32(SB)/8, $-1
DATA masks<>+40(SB)/8, $-1
DATA masks<>+48(SB)/8, $-1
DATA masks<>+56(SB)/8, $-1
DATA masks<>+64(SB)/8, $-1
DATA masks<>+72(SB)/8, $-1
DATA masks<>+80(SB)/8, $-1
DATA masks<>+88(SB)/8, $-1
DATA masks<>+96(SB)/8, $-1
DATA masks<>+104(SB)/8, $-1
DATA masks<>+112(SB)/8, $-1
DATA masks<>+120(SB)/8, $-1
DATA masks<>+128(SB)/8, $0
DATA masks<>+136(SB)/8, $0
DATA masks<>+144(SB)/8, $0
DATA masks<>+152(SB)/8, $0
DATA masks<>+160(SB)/8, $0
DATA masks<>+168(SB)/8, $0
DATA masks<>+176(SB)/8, $0
DATA masks<>+184(SB)/8, $0
DATA masks<>+192(SB)/8, $0
DATA masks<>+200(SB)/8, $0
DATA masks<>+208(SB)/8, $0
DATA masks<>+216(SB)/8, $0
DATA masks<>+224(SB)/8, $0
DATA masks<>+232(SB)/8, $0
DATA masks<>+240(SB)/8, $0
DATA masks<>+248(SB)/8, $0
GLOBL masks<>(SB), RODATA|NOPTR, $256

// func mulRows(y, a, x *float64, rows, k, stride int)
TEXT ·mulRows(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ rows+24(FP), CX
	MOVQ k+32(FP), BX
	MOVQ stride+40(FP), R8
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9       // 3 strides
	MOVQ BX, R10
	ANDQ $3, R10              // numbers in the tail
	SHRQ $2, BX               // fours
	LEAQ masks<>+128(SB), R11
	MOVQ R10, R12
	SHLQ $3, R12
	SUBQ R12, R11
	VMOVUPD (R11), Y15

four:
	CMPQ CX, $4
	JLT  one
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	MOVQ SI, R13
	MOVQ DX, R14
	MOVQ BX, R12
	TESTQ R12, R12
	JZ   fourtail

fourloop:
	VMOVUPD (R14), Y4
	VFMADD231PD (R13), Y4, Y0
	VFMADD231PD (R13)(R8*1), Y4, Y1
	VFMADD231PD (R13)(R8*2), Y4, Y2
	VFMADD231PD (R13)(R9*1), Y4, Y3
	ADDQ $32, R13
	ADDQ $32, R14
	DECQ R12
	JNZ  fourloop

fourtail:
	TESTQ R10, R10
	JZ   foursum
	VMASKMOVPD (R14), Y15, Y4
	VMASKMOVPD (R13), Y15, Y5
	VFMADD231PD Y5, Y4, Y0
	VMASKMOVPD (R13)(R8*1), Y15, Y6
	VFMADD231PD Y6, Y4, Y1
	VMASKMOVPD (R13)(R8*2), Y15, Y7
	VFMADD231PD Y7, Y4, Y2
	VMASKMOVPD (R13)(R9*1), Y15, Y8
	VFMADD231PD Y8, Y4, Y3

foursum:
	VHADDPD Y1, Y0, Y0
	VHADDPD Y3, Y2, Y2
	VPERM2F128 $0x21, Y2, Y0, Y4
	VBLENDPD $0x0c, Y2, Y0, Y0
	VADDPD Y4, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	LEAQ (SI)(R8*4), SI
	SUBQ $4, CX
	JMP  four

one:
	TESTQ CX, CX
	JZ   done
	VXORPD Y0, Y0, Y0
	MOVQ SI, R13
	MOVQ DX, R14
	MOVQ BX, R12
	TESTQ R12, R12
	JZ   onetail

oneloop:
	VMOVUPD (R14), Y4
	VFMADD231PD (R13), Y4, Y0
	ADDQ $32, R13
	ADDQ $32, R14
	DECQ R12
	JNZ  oneloop

onetail:
	TESTQ R10, R10
	JZ   onesum
	VMASKMOVPD (R14), Y15, Y4
	VMASKMOVPD (R13), Y15, Y5
	VFMADD231PD Y5, Y4, Y0

onesum:
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VHADDPD X0, X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, DI
	ADDQ R8, SI
	DECQ CX
	JMP  one

done:
	VZEROUPPER
	RET

// func addRows(y, k, a *float64, rows, n, stride int)
TEXT ·addRows(SB), NOSPLIT, $128-48
	MOVQ y+0(FP), DI
	MOVQ k+8(FP), DX
	MOVQ a+16(FP), SI
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), BX
	MOVQ stride+40(FP), R8
	SHLQ $3, R8

block:
	CMPQ BX, $16
	JLT  rest
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	MOVQ SI, R13
	MOVQ DX, R14
	MOVQ CX, R12

blockloop:
	VBROADCASTSD (R14), Y4
	VFMADD231PD (R13), Y4, Y0
	VFMADD231PD 32(R13), Y4, Y1
	VFMADD231PD 64(R13), Y4, Y2
	VFMADD231PD 96(R13), Y4, Y3
	ADDQ R8, R13
	ADDQ $8, R14
	DECQ R12
	JNZ  blockloop
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, SI
	SUBQ $16, BX
	JMP  block

rest:
	TESTQ BX, BX
	JZ   finished
	LEAQ masks<>+128(SB), R11
	MOVQ BX, R12
	SHLQ $3, R12
	SUBQ R12, R11
	VMOVUPD (R11), Y8
	VMOVUPD 32(R11), Y9
	VMOVUPD 64(R11), Y10
	VMOVUPD 96(R11), Y11
	VMASKMOVPD (DI), Y8, Y0
	VMASKMOVPD 32(DI), Y9, Y1
	VMASKMOVPD 64(DI), Y10, Y2
	VMASKMOVPD 96(DI), Y11, Y3
	MOVQ SI, R13
	MOVQ DX, R14
	MOVQ CX, R12

restloop:
	VBROADCASTSD (R14), Y4
	VMASKMOVPD (R13), Y8, Y5
	VFMADD231PD Y5, Y4, Y0
	VMASKMOVPD 32(R13), Y9, Y6
	VFMADD231PD Y6, Y4, Y1
	VMASKMOVPD 64(R13), Y10, Y7
	VFMADD231PD Y7, Y4, Y2
	VMASKMOVPD 96(R13), Y11, Y12
	VFMADD231PD Y12, Y4, Y3
	ADDQ R8, R13
	ADDQ $8, R14
	DECQ R12
	JNZ  restloop
	LEAQ buffer-128(SP), R13
	VMOVUPD Y0, (R13)
	VMOVUPD Y1, 32(R13)
	VMOVUPD Y2, 64(R13)
	VMOVUPD Y3, 96(R13)

copyloop:
	MOVQ (R13), R12
	MOVQ R12, (DI)
	ADDQ $8, R13
	ADDQ $8, DI
	DECQ BX
	JNZ  copyloop

finished:
	VZEROUPPER
	RET

// func addOuter(a, k, v *float64, rows, n, stride int)
TEXT ·addOuter(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), DI
	MOVQ k+8(FP), DX
	MOVQ v+16(FP), SI
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), BX
	MOVQ stride+40(FP), R8
	SHLQ $3, R8
	MOVQ BX, R10
	ANDQ $3, R10
	SHRQ $2, BX

row:
	VBROADCASTSD (DX), Y4
	MOVQ DI, R13
	MOVQ SI, R14
	MOVQ BX, R12
	TESTQ R12, R12
	JZ   rowtail

rowloop:
	VMOVUPD (R13), Y0
	VFMADD231PD (R14), Y4, Y0
	VMOVUPD Y0, (R13)
	ADDQ $32, R13
	ADDQ $32, R14
	DECQ R12
	JNZ  rowloop

rowtail:
	MOVQ R10, R12
	TESTQ R12, R12
	JZ   rownext

rowone:
	VMOVSD (R13), X0
	VFMADD231SD (R14), X4, X0
	VMOVSD X0, (R13)
	ADDQ $8, R13
	ADDQ $8, R14
	DECQ R12
	JNZ  rowone

rownext:
	ADDQ R8, DI
	ADDQ $8, DX
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET
