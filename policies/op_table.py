"""The data of the op table: MindSpore 2.10's primitives that take or give floats, by class.

Left out on purpose, because a region must not touch them: comparisons and other ops on integers or booleans,
Cast, random generators, ops that change their input in place (`Inplace...`, Assign, optimizers), collectives,
complex and FFT ops, quantised ops, shape and container ops, and everything that only the backward pass uses.
Left out too: ops that only look at their input in another shape (Reshape, Transpose, Squeeze, StridedSlice,
Split, BroadcastTo ...). They compute nothing and give the type that they get; and with Reshape in a white list,
MindSpore 2.10's graph mode cannot compile `nn.LSTM` ("Graph cycle exists").
"""

MATRIX = """
Addbmm Addmm Addmv Baddbmm BasicLSTMCell BatchMatMul BatchMatMulExt Cholesky CholeskyInverse CholeskySolve
Conv1DExt Conv1DPadding Conv2D Conv2DBackpropInput Conv2DExt Conv2DPadding Conv2DTranspose Conv3D
Conv3DBackpropInput Conv3DExt Conv3DPadding Conv3DTranspose ConvTbc ConvTranspose2D Convolution ConvolutionStr
Correlate Dense DepthwiseConv2dNative Dilation2D Dot DynamicGRUV2 DynamicRNN Einsum EinsumExt FFN FFNExt
FlashAttentionScore Ger Geqrf Gmm GmmV2 GroupedMatmul GroupedMatmulV2 GroupedMatmulV4 IncreFlashAttention LSTM
LinalgQr LogMatrixDeterminant Lstsq LstsqV2 Lu LuSolve MatMul MatMulExt MatrixDeterminant MatrixExp
MatrixInverse MatrixInverseExt MatrixPower MatrixSolve MatrixSolveLs MatrixTriangularSolve Mm Mv Orgqr Ormqr
Outer PromptFlashAttention Qr SelfAdjointEig SolveTriangular SpeedFusionAttention Svd
TransposeBatchMatmulTranspose TriangularSolve TridiagonalMatMul TridiagonalSolve Vdot WKV
"""

ELEMENTWISE = """
ACos Abs AccumulateNV2 AcosExt Acosh AcoshExt Add AddExt AddN AddScalar AddV2 Addcdiv AddcdivExt Addcmul
AddcmulExt ApplyRotaryPosEmb Asin AsinExt Asinh AsinhExt Atan Atan2 Atan2Ext AtanExt Atanh BesselI0 BesselI0e
BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc BiasAdd
CeLU Ceil ClampScalar ClampTensor Cos Cosh Cross Digamma Div DivMod DivMods DivNoNan Divs Dropout Dropout2D
Dropout2dExt Dropout3D DropoutDoMask DropoutDoMaskExt DropoutExt Elu EluExt Erf Erfc Erfinv Exp Exp2 Expm1
FastGeLU FastGelu Floor FloorDiv FloorDivScalar FloorMod Fmax Fmin FmodScalar FmodTensor Frac FuncDropoutExt
GLU GeLU Gelu GeluExt HShrink HSigmoid HSwish Hardtanh Heaviside Hypot Igamma Igammac Inv LeakyReLUExt Lerp
LerpScalar Lgamma Log Log10 Log1p Log2 LogAddExp LogAddExp2 LogSigmoid Logit MaskedFill MaskedFillScalar
Maximum Minimum Mish MishExt Mod Mul MulNoNan Muls Mvlgamma NanToNum Neg NpuGelu PReLU Polygamma Pow
PowScalarTensor PowTensorScalar ReLU ReLU6 ReLUV3 RealDiv Reciprocal RemainderScalarTensor
RemainderTensorScalar RemainderTensorTensor Rint RotaryPositionEmbedding Round Rsqrt SeLU SeLUExt Select
SelectV2 SiLU Sigmoid Sign Sin Sinc Sinh SoftShrink Softplus SoftplusExt Softsign Sqrt Square
SquaredDifference Sub SubExt SubScalar Swiglu Tan Tanh TensorAdd Threshold Trunc TruncateDiv TruncateMod
XLogYScalarOther XLogYScalarSelf Xdivy Xlogy Zeta
"""

REDUCTION = """
AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool2DExt AdaptiveAvgPool3D AdaptiveAvgPool3DExt
AdaptiveMaxPool1D AdaptiveMaxPool2D AdaptiveMaxPool3D ArgMaxWithValue ArgMinWithValue AvgPool AvgPool1D
AvgPool2D AvgPool3D AvgPool3DExt AvgPoolV1 Cdist ClipByNorm CumProd CumSum Cummax Cummin CumminExt CumsumExt
CumulativeLogsumexp EuclideanNorm FractionalAvgPool FractionalMaxPool FractionalMaxPool3DWithFixedKsize
FractionalMaxPoolWithFixedKsize FuncMaxPool2D Kthvalue L2Loss LinalgVectorNorm LogSoftmax LogSoftmaxExt
LogSumExp LpNorm LpNormV2 Max MaxDim MaxPool MaxPool3D MaxPool3DWithArgmax MaxPoolV1 MaxPoolWithArgmax
MaxPoolWithArgmaxV2 MaxPoolWithIndices MaxPoolWithMask MeanExt Median MedianDim MedianExt Min MinDim Nansum
Norm NuclearNorm Pdist ProdExt Quantile ReduceMax ReduceMean ReduceMin ReduceProd ReduceStd ReduceSum
SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum Softmax SquareSumAll Std StdMean SumExt Trace
TraceExt TraceV2 UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum Var VarMean
"""

LOSS = """
BCEWithLogitsLoss BinaryCrossEntropy CTCLoss CTCLossV2 CosineEmbeddingLoss CrossEntropyLoss KLDiv KLDivLoss
L1LossExt MSELossExt MultiMarginLoss MultilabelMarginLoss NLLLoss NLLLoss2d RNNTLoss
SigmoidCrossEntropyWithLogits SmoothL1Loss SoftMarginLoss SoftmaxCrossEntropyWithLogits
SparseSoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogitsV2 TripletMarginLoss
"""

NORMALIZATION = """
AddLayerNormV2 AddRmsNorm Centralization GroupNorm L2Normalize LRN LayerNorm LayerNormExt LayerNormV3 Renorm
RmsNorm
"""

INPLACE_NORMALIZATION = """
BatchNorm BatchNormElemt BatchNormExt BatchNormGatherStatsWithCounts BatchNormStats FusedBatchNorm
FusedBatchNormEx InstanceNorm InstanceNormV2 SyncBatchNorm
"""

MOVEMENT = """
AffineGrid BatchToSpace BatchToSpaceND BatchToSpaceNDV2 ChannelShuffle Col2Im Col2ImExt Concat ConstantPadND
CropAndResize DeformableOffsets DepthToSpace Diag DiagExt DiagPart Embedding EmbeddingLookup
ExtractImagePatches ExtractVolumePatches FillDiagonal Gather GatherD GatherNd GatherNdExt GatherV2
GridSampler2D GridSampler3D Im2Col Im2ColExt Index IndexAdd IndexAddExt IndexFill IndexSelect MaskedScatter
MaskedSelect MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiag
MatrixSetDiagV3 MaxUnpool2D MaxUnpool2DExt MaxUnpool3D MirrorPad PSROIPooling Pack Pad PadV3 Padding
ParallelResizeBilinear PixelShuffle PsROIPooling ROIAlign ReflectionPad1D ReflectionPad2D ReflectionPad3D
Repeat RepeatInterleaveInt RepeatInterleaveTensor ReplicationPad1D ReplicationPad2D ReplicationPad3D
ResizeArea ResizeBicubic ResizeBilinearV2 ResizeLinear1D ResizeNearestNeighbor ResizeNearestNeighborV2
ReverseSequence ReverseV2 Roll ScatterNd Sort SortExt SpaceToBatch SpaceToBatchND SpaceToDepth Stack StackExt
Take TensorScatterAdd TensorScatterDiv TensorScatterElements TensorScatterMax TensorScatterMin
TensorScatterMul TensorScatterSub TensorScatterUpdate Tile TopK TopkExt Tril TrilExt Triu UpsampleBicubic2D
UpsampleBilinear2D UpsampleLinear1D UpsampleNearest1D UpsampleNearest2D UpsampleNearest3D UpsampleTrilinear3D
"""
