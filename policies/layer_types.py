"""The layer classes that MindSpore brings, under the names that a type rule may use."""

_NAMES = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
AvgPool1d AvgPool1dExt AvgPool2d AvgPool2dExt AvgPool3d AvgPool3dExt BCELoss BCEWithLogitsLoss BatchNorm1d
BatchNorm2d BatchNorm3d BiDense CELU CTCLoss Cell CellDict CellList CentralCrop ChannelShuffle ClipByNorm
ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv1dTranspose Conv2d Conv2dBnAct Conv2dThor
Conv2dTranspose Conv3d Conv3dTranspose CosineEmbeddingLoss CrossEntropyLoss Dense DenseBnAct DenseThor
DiGamma DiceLoss Dropout Dropout1d Dropout2d Dropout2dExt Dropout3d DropoutExt ELU Embedding EmbeddingExt
EmbeddingLookup EmbeddingLookupThor EmbeddingThor FastGelu Flatten FocalLoss FractionalMaxPool2d
FractionalMaxPool3d GELU GLU GRU GRUCell GaussianNLLLoss GraphCell GroupNorm HShrink HSigmoid HSwish Hardtanh
HingeEmbeddingLoss HuberLoss IGamma Identity ImageGradients InstanceNorm1d InstanceNorm2d InstanceNorm3d
KLDivLoss L1Loss L1LossExt L1Regularizer LBeta LGamma LPPool1d LPPool2d LRN LSTM LSTMCell LayerNorm
LayerNormExt LeakyReLU Linear LogSigmoid LogSoftmax LogSoftmaxExt LossBase MAELoss MSELoss MSSSIM
MarginRankingLoss MatDet MatInverse MatMul MatrixDiag MatrixDiagPart MatrixSetDiag MaxPool1d MaxPool2d
MaxPool2dExt MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Moments MultiClassDiceLoss
MultiFieldEmbeddingLookup MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention MultilabelMarginLoss
NLLLoss Norm OneHot PReLU PReLUExt PSNR Pad PixelShuffle PixelUnshuffle PoissonNLLLoss RMSELoss RNN RNNCell
RReLU Range ReLU ReLU6 ReduceLogSumExp ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d
ReplicationPad2d ReplicationPad3d Roll SSIM SampledSoftmaxLoss SeLU SequentialCell SiLU Sigmoid SmoothL1Loss
SoftMarginLoss SoftShrink Softmax Softmax2d SoftmaxCrossEntropyWithLogits Softmin Softsign
SparseTensorDenseMatmul SparseToDense SyncBatchNorm Tanh Tanhshrink Threshold TimeDistributed Transformer
TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer Tril TripletMarginLoss
TripletMarginWithDistanceLoss Triu Unflatten Unfold Upsample ZeroPad2d
"""

LAYER_TYPES: frozenset[str] = frozenset(f"nn.{name}" for name in _NAMES.split())
